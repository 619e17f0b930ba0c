/** @jsxImportSource preact */
import { ActionButton } from "../action-button.tsx";
import { Facts } from "../facts.tsx";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { ObjectLink } from "../object-link.tsx";
import { PictureLibrary } from "../picture-library.tsx";
import { useActing } from "../sending.ts";
import { type BrandProps, BrandSection } from "./section.tsx";

/** Name, logo, website and time zone of the brand, and its rule for agents. */
export function BrandNames({ brand: { name, website, logo, logoAssetId, timezone, publishNeedsApproval }, save }: BrandProps) {
  const acting = useActing();
  const change = (values: FormValues): Promise<void> =>
    save(
      values.changes((from) => ({
        name: from.text("name"),
        website: from.text("website") || null,
        timezone: from.text("timezone"),
        publishNeedsApproval: from.has("publishNeedsApproval"),
      })),
    );
  return (
    <BrandSection
      title="Name and logo"
      actions={
        <>
          <PictureLibrary label="Choose a logo" take={({ id }) => void acting.act(() => save({ logoAssetId: id }))} />
          {logo === null ? null : <ActionButton label="Remove the logo" act={() => save({ logoAssetId: null })} />}
          <FormButton label="Edit" title="Name, website and time zone" submit="Save" act={change}>
            <Field label="Name">
              <input name="name" required maxLength={200} defaultValue={name} autocomplete="off" />
            </Field>
            <Field label="Website">
              <input name="website" type="url" maxLength={2048} defaultValue={website ?? ""} placeholder="https://acme.example" />
            </Field>
            <Field label="Time zone">
              <input name="timezone" required maxLength={64} defaultValue={timezone} list="zones" autocomplete="off" spellcheck={false} />
            </Field>
            <datalist id="zones">
              {Intl.supportedValuesOf("timeZone").map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
            <label class="check">
              <input type="checkbox" name="publishNeedsApproval" defaultChecked={publishNeedsApproval} /> An agent may put a page online
              only after your approval
            </label>
          </FormButton>
        </>
      }
    >
      {logo === null || logoAssetId === null ? null : <img class="thumbnail" src={`/a/${logoAssetId}`} alt="The logo" />}
      <Facts
        facts={[
          ["Name", name],
          ["Logo", logoAssetId === null ? "none yet" : <ObjectLink key="logo" id={logoAssetId} />],
          [
            "Website",
            website && (
              <a key="website" href={website} target="_blank" rel="noreferrer">
                {website}
              </a>
            ),
          ],
          ["Time zone", timezone],
          ["Agents' pages", publishNeedsApproval ? "go online after your approval" : "go online when the agent says so"],
        ]}
      />
    </BrandSection>
  );
}
