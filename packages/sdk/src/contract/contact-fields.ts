import { limits } from "./limits.ts";

/** A text field of a contact. */
interface ContactText {
  /** Name of the field within a sentence. */
  readonly noun: string;
  readonly maxLength: number;
  /** Autofill of a form's input: the `autocomplete` token, and the `type` of the input. */
  readonly autocomplete: string;
  readonly input: "text" | "tel";
  /** Part of the contact's full name. */
  readonly inName?: true;
  /** A tag of a language, which is not asked for by sign-up forms: their page has one. */
  readonly isLanguage?: true;
  /** Other column names for it in CSV files, in lower case with letters and digits only, in twelve languages. */
  readonly aliases: readonly string[];
}

/**
 * The text fields of a contact besides its address, each optional. Inputs, outputs, segment rules, search, template variables, lint,
 * limits, CSV files, the CLI's views and the server's reads and writes follow from this list; a new field needs an entry
 * here, a column in the server's `contacts/tables.ts`, and its name in docs/audience.md.
 */
export const CONTACT_TEXTS = {
  firstName: {
    noun: "first name",
    maxLength: 100,
    autocomplete: "given-name",
    input: "text",
    inName: true,
    aliases: [
      ...[
        "first",
        "fname",
        "forename",
        "givenname",
        "vorname",
        "rufname",
        "prenom",
        "nombre",
        "primernombre",
        "nome",
        "primeironome",
        "nomeproprio",
      ],
      ...["voornaam", "roepnaam", "imie", "fornamn", "fornavn", "名", "имя", "ファーストネーム"],
    ],
  },
  lastName: {
    noun: "last name",
    maxLength: 100,
    autocomplete: "family-name",
    input: "text",
    inName: true,
    aliases: [
      ...[
        "last",
        "lname",
        "surname",
        "familyname",
        "nachname",
        "familienname",
        "zuname",
        "nom",
        "nomdefamille",
        "apellido",
        "apellidos",
        "cognome",
      ],
      ...[
        "sobrenome",
        "apelido",
        "ultimonome",
        "achternaam",
        "familienaam",
        "nazwisko",
        "efternamn",
        "efternavn",
        "etternavn",
        "姓",
        "фамилия",
      ],
    ],
  },
  phone: {
    noun: "phone number",
    maxLength: 30,
    autocomplete: "tel",
    input: "tel",
    aliases: [
      ...[
        "phonenumber",
        "telephone",
        "tel",
        "mobile",
        "mobilephone",
        "mobilenumber",
        "cell",
        "cellphone",
        "phone1value",
        "primaryphone",
        "homephone",
      ],
      ...[
        "businessphone",
        "workphone",
        "telefon",
        "telefonnummer",
        "mobiltelefon",
        "handy",
        "handynummer",
        "mobil",
        "mobilnummer",
        "telefongeschaftlich",
      ],
      ...[
        "telefonprivat",
        "telephoneportable",
        "telephonemobile",
        "portable",
        "numerodetelephone",
        "telefono",
        "telefonomovil",
        "movil",
        "cellulare",
      ],
      ...[
        "telefone",
        "telefonecelular",
        "celular",
        "telemovel",
        "telefoon",
        "telefoonnummer",
        "mobiel",
        "numertelefonu",
        "komorka",
        "mobilnr",
      ],
      ...["電話", "電話番号", "携帯電話", "携帯番号", "携帯", "телефон", "номертелефона", "мобильныйтелефон", "мобильный"],
    ],
  },
  language: {
    noun: "language",
    maxLength: 35,
    autocomplete: "language",
    input: "text",
    isLanguage: true,
    aliases: [
      ...["lang", "locale", "languagecode", "preferredlanguage", "sprache", "langue", "idioma", "lingua", "taal", "jezyk", "dil"],
      ...["sprak", "sprog", "język", "اللغة", "言語", "语言", "язык"],
    ],
  },
} as const satisfies Record<string, ContactText>;

/** Characters of an `externalId`. */
export const EXTERNAL_ID_LIMIT = 128;

/** Column names for an `externalId` in CSV files, in lower case with letters and digits only. */
export const EXTERNAL_ID_ALIASES = [
  ...["externalid", "extid", "externalref", "externalreference", "userid", "useruuid", "uid", "customerid", "clientid"],
  ...["memberid", "accountid", "personid", "subscriberid", "contactexternalid", "kundennummer", "benutzerid", "kundenid"],
] as const;

// Letters and digits first: it stands in paths, in arguments of commands and in cells of spreadsheets.
const EXTERNAL_ID = /^[A-Za-z0-9][A-Za-z0-9._:|~=-]*$/;
// The prefixes of ids that name a contact or that `explain` takes. An id of these would hide a contact behind it.
const OWN_ID = /^(?:em|mail|rcv|evt|con|cmp|ent|whk|whd|act|run)_/i;
// Paths below /api/v1/contacts that are no contact.
const RESERVED: ReadonlySet<string> = new Set(["export", "import", "imports", "tags"]);

/** The reason why a text cannot be an `externalId`; null if it can. None looks like an address or like an id of ours. */
export function refuseExternalId(text: string): string | null {
  if (text.includes("@")) return "An externalId cannot contain @: it would be taken for an address.";
  if (OWN_ID.test(text))
    return `An externalId cannot begin with ${text.slice(0, text.indexOf("_") + 1)}: it would be taken for an id of mailsvc.`;
  if (RESERVED.has(text.toLowerCase())) return `An externalId cannot be ${text}: a path of the API has this name.`;
  return EXTERNAL_ID.test(text)
    ? null
    : "An externalId begins with a letter or a digit, and has only letters and digits of ASCII and the characters . _ : | ~ = -";
}

/** The kinds of texts that name a contact. */
export type ContactRefKind = "email" | "id" | "externalId";

/**
 * Tells what a text that names a contact is: with an @ an address, with the prefix con_ an id of ours, otherwise an externalId. The only
 * judge of it; `refuseExternalId` keeps the three apart.
 */
export function readContactRef(text: string): ContactRefKind {
  if (text.includes("@")) return "email";
  return text.startsWith("con_") ? "id" : "externalId";
}

export const CONTACT_LIMITS = limits("contacts", "A contact", {
  tags: [50, "tags"],
  tag: [100, "a tag", "characters"],
  customBytes: [16 * 1024, "custom fields as JSON", "bytes"],
  customKeys: [200, "custom fields"],
  customKey: [100, "name of a custom field", "characters"],
  customDepth: [5, "levels of nested custom fields"],
  batch: [1000, "contacts whose tags one request changes"],
  importRows: [1000, "rows of one import request; the command line splits larger files"],
  search: [200, "a search", "characters"],
});

/** The states of a contact (docs/contacts.md#status). Bounces and complaints set BOUNCED and COMPLAINED; the API cannot. */
export const CONTACT_STATUSES = ["SUBSCRIBED", "UNSUBSCRIBED", "BOUNCED", "COMPLAINED"] as const;
export type ContactStatus = (typeof CONTACT_STATUSES)[number];

export type ContactTextField = keyof typeof CONTACT_TEXTS;

export const CONTACT_TEXT_FIELDS = Object.keys(CONTACT_TEXTS) as ContactTextField[];

/** The fields that sign-up forms may ask for besides the address. */
export type FormField = Exclude<ContactTextField, "language">;

export const FORM_FIELDS = CONTACT_TEXT_FIELDS.filter((field): field is FormField => !("isLanguage" in CONTACT_TEXTS[field]));

/** Builds an object with a value for each text field of a contact. */
export function mapContactTexts<T>(toValue: (field: ContactTextField) => T): Record<ContactTextField, T> {
  return Object.fromEntries(CONTACT_TEXT_FIELDS.map((field) => [field, toValue(field)])) as Record<ContactTextField, T>;
}

/** Returns the label of a field: `First name`. */
export function labelContactText(field: ContactTextField): string {
  const { noun } = CONTACT_TEXTS[field];
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}

/** True if a field is part of the contact's full name. */
export function isPartOfName(field: ContactTextField): boolean {
  return "inName" in CONTACT_TEXTS[field];
}

/** The full name of a contact; empty without one. */
export function formatContactName(contact: Readonly<Record<ContactTextField, string | null>>): string {
  return CONTACT_TEXT_FIELDS.filter(isPartOfName)
    .map((field) => contact[field])
    .filter(Boolean)
    .join(" ");
}
