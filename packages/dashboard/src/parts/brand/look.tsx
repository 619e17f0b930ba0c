/** @jsxImportSource preact */
import type { BrandSettings } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { type BrandProps, BrandSection } from "./section.tsx";

type ColorName = keyof BrandSettings["colors"];

const COLORS: Readonly<Record<ColorName, string>> = {
  primary: "Primary",
  secondary: "Secondary",
  accent: "Accent",
  background: "Background",
  text: "Text",
};
const NAMES = Object.keys(COLORS) as ColorName[];

/** Colors and fonts of the brand. */
export function BrandLook({ brand: { colors, fonts }, save }: BrandProps) {
  const change = (values: FormValues): Promise<void> =>
    save({
      colors: Object.fromEntries(NAMES.map((name) => [name, values.text(name) || null])),
      fonts: { heading: values.text("heading") || null, body: values.text("body") || null },
    });
  return (
    <BrandSection
      title="Colors and fonts"
      actions={
        <FormButton label="Edit" title="Colors and fonts" submit="Save" act={change}>
          {NAMES.map((name) => (
            <ColorField key={name} name={name} value={colors[name] ?? ""} />
          ))}
          <Field label="Font of headings">
            <input name="heading" maxLength={100} defaultValue={fonts.heading ?? ""} placeholder="Georgia" autocomplete="off" />
          </Field>
          <Field label="Font of texts">
            <input name="body" maxLength={100} defaultValue={fonts.body ?? ""} placeholder="Arial" autocomplete="off" />
          </Field>
        </FormButton>
      }
    >
      <ul class="swatches">
        {NAMES.map((name) => (
          <li key={name}>
            <span
              class={colors[name] === null ? "swatch none" : "swatch"}
              style={colors[name] === null ? {} : { background: colors[name] }}
            />
            <span>
              {COLORS[name]}
              <br />
              <span class="soft">{colors[name] ?? "not chosen"}</span>
            </span>
          </li>
        ))}
      </ul>
      <p class="soft">
        {fonts.heading === null && fonts.body === null
          ? "No font is chosen: pages use that of the reader's device."
          : `Headings in ${fonts.heading ?? "the reader's font"}, texts in ${fonts.body ?? "the reader's font"}.`}
      </p>
    </BrandSection>
  );
}

/** A color as #rrggbb, written or picked. Empty for none. */
function ColorField({ name, value }: { readonly name: ColorName; readonly value: string }) {
  const [color, setColor] = useState(value);
  return (
    <div class="color-field">
      <Field label={COLORS[name]}>
        <input
          name={name}
          value={color}
          pattern="#[0-9a-fA-F]{6}"
          title="A color such as #3150c8"
          placeholder="#3150c8"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setColor(currentTarget.value)}
        />
      </Field>
      <input
        type="color"
        aria-label={`Pick the color ${COLORS[name]}`}
        value={/^#[0-9a-f]{6}$/i.test(color) ? color : "#ffffff"}
        onInput={({ currentTarget }) => setColor(currentTarget.value)}
      />
    </div>
  );
}
