import { RECIPIENT_TEXTS, type RecipientLanguage } from "@mailsvc/sdk/contract";
import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { ja } from "./ja.ts";
import { nl } from "./nl.ts";
import { pl } from "./pl.ts";
import { pt } from "./pt.ts";
import type { RecipientTexts } from "./recipient-texts.ts";
import { tr } from "./tr.ts";
import { zh } from "./zh.ts";

/** The texts of this server, by language. */
export const BUILT_IN: Readonly<Record<RecipientLanguage, RecipientTexts>> = {
  ...{ en: RECIPIENT_TEXTS, de, fr, es, it, pt, nl, pl, tr, ar, ja, zh },
};
