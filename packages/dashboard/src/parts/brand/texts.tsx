/** @jsxImportSource preact */
import { may } from "../../api/session.ts";
import { ENGLISH, LANGUAGES } from "../audience/recipient-texts.generated.ts";
import { Field } from "../field.tsx";
import { FormButton } from "../form-button.tsx";
import { RowMenu } from "../row-menu.tsx";
import { type BrandChange, type BrandProps, BrandSection } from "./section.tsx";

/** The language of a brand's pages and mail, and the texts that replace those of the server. */
export function BrandTexts({ brand, save }: BrandProps) {
  return (
    <BrandSection title="Language and texts" actions={<Buttons brand={brand} save={save} />}>
      <p class="soft">
        Forms, confirmation emails, and pages to unsubscribe are in{" "}
        {brand.locale === null ? "the language of each visitor's browser, else English" : nameLanguage(brand.locale)}. A language of the
        list or the person goes before it.
      </p>
      <OwnTexts brand={brand} save={save} />
    </BrandSection>
  );
}

function Buttons({ brand: { locale }, save }: BrandProps) {
  return (
    <>
      <FormButton
        label="Language"
        title="Language of your pages and mail"
        submit="Save"
        act={(values) => save({ locale: values.text("locale") || null })}
      >
        <Field label="Language" hint="A tag such as de or pt-BR. That of each visitor's browser if empty.">
          <input name="locale" list="languages" maxLength={35} defaultValue={locale ?? ""} autocomplete="off" spellcheck={false} />
        </Field>
        <Languages />
      </FormButton>
      <FormButton
        label="Replace a text"
        title="A text of your own"
        submit="Save"
        act={(values) => save(replaceText(values.text("language"), values.text("key"), values.text("text")))}
      >
        <Field label="Language" hint="Any, also one that this server does not speak.">
          <input
            name="language"
            list="languages"
            required
            maxLength={35}
            defaultValue={locale ?? "en"}
            autocomplete="off"
            spellcheck={false}
          />
        </Field>
        <Languages />
        <Field label="Text of the server">
          <select name="key" required>
            {Object.entries(ENGLISH).map(([key, text]) => (
              <option key={key} value={key}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Your text" hint="One line, without HTML. Words in braces, such as {address}, are filled in.">
          <input name="text" required maxLength={500} autocomplete="off" />
        </Field>
      </FormButton>
    </>
  );
}

function Languages() {
  return (
    <datalist id="languages">
      {LANGUAGES.map((tag) => (
        <option key={tag} value={tag}>
          {nameLanguage(tag)}
        </option>
      ))}
    </datalist>
  );
}

function OwnTexts({ brand: { texts }, save }: BrandProps) {
  const own = Object.entries(texts).flatMap(([language, all]) => Object.entries(all ?? {}).map(([key, text]) => ({ language, key, text })));
  if (own.length === 0) return null;
  return (
    <ul class="items">
      {own.map(({ language, key, text }) => (
        <li key={`${language} ${key}`}>
          <span lang={language} dir="auto">
            {typeof text === "string" ? text : Object.values(text as Record<string, string>).join(" / ")}
          </span>{" "}
          <span class="soft">
            {nameLanguage(language)} · {ENGLISH[key] ?? key}
          </span>
          {may("brand:write") ? (
            <RowMenu
              label={`Change ${key} in ${language}`}
              entries={[{ label: "Use the server's text", act: () => save(replaceText(language, key, null)) }]}
            />
          ) : null}
        </li>
      ))}
    </ul>
  );
}

/** The change that sets a text; null takes that of the server. */
function replaceText(language: string, key: string, text: string | null): BrandChange {
  return { texts: { [language]: { [key]: text } } } as BrandChange;
}

function nameLanguage(tag: string): string {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
