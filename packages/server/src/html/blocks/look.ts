import type { PageBrand } from "../page.ts";
import { getDirection } from "../texts.ts";
import { contrast, getButtonColors, luminance, mix, readableOn, toFontFamily, toReadable } from "../theme.ts";

/** The parts of a brand that its mails in blocks show. */
export type BlockBrand = Pick<PageBrand, "colors" | "fonts" | "locale">;

/** Colors of a mail on one background. */
interface Shades {
  /** Behind the sheet. */
  readonly page: string;
  readonly sheet: string;
  readonly text: string;
  readonly link: string;
  readonly line: string;
  /** Small words on the page, such as the link to unsubscribe. */
  readonly muted: string;
}

/** Colors, fonts and language of a mail. */
export interface Look extends Shades {
  readonly button: string;
  readonly bodyFont: string;
  readonly headingFont: string;
  readonly language: string;
  readonly direction: "ltr" | "rtl";
  /** The colors of dark mode; null for a brand whose own background is dark. */
  readonly dark: Shades | null;
}

const LIGHT_SHEET = "#ffffff";
const DARK_SHEET = "#1b1f26";
const FONTS = "Arial, Helvetica, sans-serif";

/** The look of a brand's mails; colors that it has not chosen are ours, and those that cannot be read are corrected. */
export function buildLook({ colors, fonts, locale }: BlockBrand): Look {
  const sheet = colors.background ?? LIGHT_SHEET;
  const isLight = luminance(sheet) > 0.4;
  const wanted = colors.text ?? (isLight ? "#1b1f24" : "#e9ebee");
  const button = getButtonColors(colors).background;
  const link = colors.accent ?? button;
  const bodyFont = toFontFamily(fonts.body, FONTS).replaceAll('"', "'");
  return {
    ...buildShades(sheet, wanted, link),
    button,
    bodyFont,
    headingFont: toFontFamily(fonts.heading ?? fonts.body, FONTS).replaceAll('"', "'"),
    language: locale ?? "en",
    direction: getDirection(locale ?? "en"),
    dark: isLight ? buildShades(DARK_SHEET, "#e9ebee", link) : null,
  };
}

/** The colors of a button: its own or the brand's, what can be read on it, and a border where it hardly differs from the sheet. */
export function buildButton(own: string | undefined, look: Look): { ground: string; text: string; edge: string } {
  const ground = (own ?? look.button).toLowerCase();
  const hides = contrast(ground, look.sheet) < 1.6 || (look.dark !== null && contrast(ground, look.dark.sheet) < 1.6);
  return { ground, text: readableOn(ground), edge: hides ? mix(ground, readableOn(ground), 0.4) : ground };
}

function buildShades(sheet: string, wanted: string, link: string): Shades {
  const text = contrast(wanted, sheet) >= 4.5 ? wanted : readableOn(sheet);
  const page = luminance(sheet) > 0.4 ? mix(sheet, text, 0.05) : mix(sheet, "#000000", 0.3);
  return {
    page,
    sheet,
    text,
    link: toReadable(link, [sheet]),
    line: mix(sheet, text, 0.18),
    muted: toReadable(mix(text, page, 0.38), [page]),
  };
}
