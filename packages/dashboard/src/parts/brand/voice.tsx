/** @jsxImportSource preact */
import { Facts } from "../facts.tsx";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { splitPhrases } from "../split-list.ts";
import { type BrandProps, BrandSection } from "./section.tsx";

/** The brand's voice. Agents follow it in what they write. */
export function BrandVoice({ brand: { voice }, save }: BrandProps) {
  const { tone, description, dos, donts } = voice;
  const change = (values: FormValues): Promise<void> =>
    save({
      voice: {
        tone: splitPhrases(values.text("tone"), ","),
        description: values.text("description"),
        dos: splitPhrases(values.text("dos"), "\n"),
        donts: splitPhrases(values.text("donts"), "\n"),
      },
    });
  const isEmpty = tone.length + dos.length + donts.length === 0 && description === "";
  return (
    <BrandSection
      title="Voice"
      actions={
        <FormButton label="Edit" title="How your brand speaks" submit="Save" act={change}>
          <Field label="Tone" hint="Words with commas between them.">
            <input name="tone" defaultValue={tone.join(", ")} placeholder="calm, plain" autocomplete="off" />
          </Field>
          <Field label="Description">
            <textarea name="description" rows={4} maxLength={2000} defaultValue={description} />
          </Field>
          <Field label="Do" hint="One on each line.">
            <textarea name="dos" rows={3} defaultValue={dos.join("\n")} placeholder="Address the reader as you" />
          </Field>
          <Field label="Do not" hint="One on each line.">
            <textarea name="donts" rows={3} defaultValue={donts.join("\n")} placeholder="Promise dates" />
          </Field>
        </FormButton>
      }
    >
      {isEmpty ? (
        <p class="soft">Not described yet. A few words on tone, and on what to avoid, help agents write like you.</p>
      ) : (
        <Facts
          facts={[
            ["Tone", tone.join(", ")],
            [
              "Description",
              description && (
                <span key="description" class="said">
                  {description}
                </span>
              ),
            ],
            ["Do", dos.length === 0 ? null : <Lines key="dos" lines={dos} />],
            ["Do not", donts.length === 0 ? null : <Lines key="donts" lines={donts} />],
          ]}
        />
      )}
    </BrandSection>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ul class="plain">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
