import type { PluralForms, RECIPIENT_TEXTS, TextKey } from "@mailsvc/sdk/contract";

/** The texts with a number. */
export type PluralKey = { [K in TextKey]: (typeof RECIPIENT_TEXTS)[K] extends string ? never : K }[TextKey];

/** The texts of one language: none may be missing. */
export type RecipientTexts = { readonly [K in TextKey]: K extends PluralKey ? PluralForms : string };
