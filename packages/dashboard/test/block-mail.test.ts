import type { MailBlock } from "@mailsvc/sdk/contract";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renderBlocks } from "../../server/src/html/blocks/render.ts";
import { listBarriers } from "./barriers.ts";
import { PATIENCE_MS, picture } from "./browser.ts";
import { launchBrowser } from "./chromium.ts";

const PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";

const BLOCKS: MailBlock[] = [
  { type: "heading", level: 1, text: "Spring is here, Ada" },
  { type: "text", text: `The **new** collection is in. ${WORD}\n\n- light jackets\n- [rain coats](https://acme.example/rain)` },
  { type: "image", src: "https://acme.example/coat.png", alt: "A coat" },
  {
    type: "columns",
    columns: [
      {
        blocks: [
          { type: "heading", level: 2, text: "Left" },
          { type: "button", label: "Jackets", href: "https://acme.example/j" },
        ],
      },
      {
        blocks: [
          { type: "heading", level: 2, text: "Right" },
          { type: "text", text: `Hats. ${WORD}` },
        ],
      },
    ],
  },
  { type: "columns", columns: ["One", "Two", "Three"].map((text) => ({ blocks: [{ type: "text", text }] })) },
  { type: "divider" },
  { type: "button", label: "See all of it", href: "https://acme.example", align: "center" },
  { type: "text", size: "small", text: "Acme Ltd, 1 Main Street", align: "center" },
];

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, PATIENCE_MS);
afterAll(() => browser?.close());

const BRANDS = {
  plain: { colors: {}, fonts: {}, locale: null },
  colored: { colors: { primary: "#ffd400", accent: "#e2725b", background: "#fff8e7", text: "#8a7a5a" }, fonts: {}, locale: "de" },
  dark: { colors: { primary: "#1b5e20", background: "#101418", text: "#333333" }, fonts: {}, locale: "en" },
  rtl: { colors: {}, fonts: {}, locale: "ar" },
} as const;

test.each(
  Object.keys(BRANDS).flatMap((brand) =>
    (["light", "dark"] as const).flatMap((scheme) => [320, 390, 600, 800].map((width) => ({ brand, scheme, width }))),
  ),
)(
  "a mail of the brand $brand fits, can be read and has no barriers at $width px in $scheme mode",
  async ({ brand, scheme, width }) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
    const html = renderBlocks(BLOCKS, BRANDS[brand as keyof typeof BRANDS]).replaceAll("https://acme.example/coat.png", PICTURE);
    await page.setContent(html);
    await picture(page, `block-mail-${brand}-${scheme}-${width}`);
    const seen = await page.evaluate(() => {
      const box = (text: string) => {
        const found = [...document.querySelectorAll("h1, h2, p, a")].find((one) => one.textContent === text);
        const { x, y, right, width } = (found as Element).getBoundingClientRect();
        return { x, y, right, width };
      };
      const image = (document.querySelector("img") as HTMLElement).getBoundingClientRect();
      const sheet = (document.querySelector("table.sheet") as HTMLElement).getBoundingClientRect();
      const boxes = { heading: box("Spring is here, Ada"), left: box("Left"), right: box("Right"), button: box("See all of it") };
      return { wide: document.documentElement.scrollWidth, image: image.width, sheet: sheet.width, x: sheet.x, ...boxes };
    });
    expect(seen.wide).toBe(width);
    expect(seen.sheet).toBeLessThanOrEqual(600);
    expect(seen.image).toBeCloseTo(seen.sheet - 48, 0);
    const stands = Math.abs((seen.button.x + seen.button.right) / 2 - (seen.x + seen.sheet / 2));
    expect(stands).toBeLessThan(2);
    // Columns stand next to each other where there is room for them, the first at the side where reading begins.
    if (seen.sheet >= 600) {
      expect(seen.left.y).toBe(seen.right.y);
      expect(seen.left.x < seen.right.x).toBe(brand !== "rtl");
    } else expect(seen.right.y).toBeGreaterThan(seen.left.y);
    const barriers = await listBarriers({ page });
    // A mail is read in a program that has landmarks and a title of its own.
    expect(barriers.filter((one) => !/^(?:region|document-title|landmark-one-main|page-has-heading-one):/.test(one))).toEqual([]);
    await page.close();
  },
  PATIENCE_MS,
);
