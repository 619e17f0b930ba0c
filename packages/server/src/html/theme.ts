const PRIMARY = "#2f5bea";
const LIGHT = { ground: "#ffffff", text: "#1b1f24" };
const DARK = { ground: "#14171c", text: "#e9ebee" };

/** Colors of a brand, as #rrggbb; null or absent for those we choose. */
export interface ThemeColors {
  readonly primary?: string | null | undefined;
  readonly accent?: string | null | undefined;
  readonly background?: string | null | undefined;
  readonly text?: string | null | undefined;
}

/** Font families of a brand. */
export interface ThemeFonts {
  readonly heading?: string | null | undefined;
  readonly body?: string | null | undefined;
}

const SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif';

const RULES = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;background:var(--ground);color:var(--text);font:1.0625rem/1.6 var(--body);overflow-wrap:break-word}
.frame{width:100%;max-width:46rem;margin:0 auto;padding:0 1.25rem}
.top{padding:1.25rem 0;border-bottom:1px solid var(--line)}
.top .frame{display:flex;align-items:center;gap:.75rem}
.top img{display:block;max-height:2.5rem;max-width:11rem;width:auto;height:auto}
.top b,.top img{font:600 1.0625rem/1.3 var(--heading)}
main{flex:1;padding:clamp(1.75rem,5vw,3.5rem) 0}
h1,h2,h3,h4,h5,h6{font-family:var(--heading);line-height:1.2;margin:2em 0 .6em;text-wrap:balance}
h1{font-size:clamp(1.9rem,1.3rem + 2.6vw,2.9rem);letter-spacing:-.02em;margin-top:0}
h2{font-size:clamp(1.4rem,1.2rem + .9vw,1.8rem);letter-spacing:-.01em}
h3{font-size:1.2rem}
p,ul,ol,dl,blockquote,pre,table,figure,details{margin:0 0 1.1em}
main .frame>:first-child,.hero>:first-child,.card>:first-child{margin-top:0}
li+li{margin-top:.35em}
a{color:var(--link);text-underline-offset:.15em}
img{max-width:100%;height:auto;border-radius:.5rem}
figcaption,.muted,small{color:var(--muted);font-size:.9rem}
figure img{display:block}
figcaption{margin-top:.5em}
blockquote{margin-inline-start:0;padding:.2em 0;padding-inline-start:1.1em;border-inline-start:4px solid var(--edge);font-size:1.1em}
blockquote p{margin-bottom:.5em}
blockquote p:last-child{margin-bottom:0}
blockquote footer{color:var(--muted);font-size:.9rem}
hr{border:0;border-top:1px solid var(--line);margin:2.2em 0}
pre,code,kbd,samp{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{padding:1em;border-radius:.5rem;background:var(--card);overflow-x:auto}
table{border-collapse:collapse;width:100%;display:block;overflow-x:auto}
th,td{padding:.55em .8em;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}
.hero{padding:clamp(1.5rem,5vw,3rem) 0}
.hero p{font-size:1.2rem}
.frame>.hero:first-child{padding-top:0}
.card{padding:1.4rem;border:1px solid var(--line);border-radius:.8rem;background:var(--card);margin:0 0 1.25rem}
.card>:last-child{margin-bottom:0}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(12.5rem,100%),1fr));gap:1.25rem;margin:0 0 1.25rem}
.columns>*{margin:0}
.center{text-align:center}
.button,button{display:inline-block;min-height:2.75rem;padding:.8em 1.5em;border:1px solid var(--edge);border-radius:.55rem;background:var(--primary);color:var(--on-primary);font:600 1rem/1.2 var(--body);text-decoration:none;cursor:pointer}
.button:hover,button:hover{filter:brightness(1.08)}
.signup{margin:2rem 0;padding:clamp(1.25rem,4vw,2rem);border:1px solid var(--line);border-radius:1rem;background:var(--card)}
.signup h2{margin:0 0 .8em}
.signup p{margin:0 0 1.1em}
.signup label{display:block;font-weight:600;font-size:.95rem;margin-bottom:.35em}
.signup input[type=email],.signup input[type=text],.signup input[type=tel]{width:100%;min-height:2.75rem;padding:.75em .85em;border:1px solid var(--field);border-radius:.5rem;background:var(--ground);color:var(--text);font:1rem/1.3 var(--body)}
.signup input[aria-invalid]{border-color:var(--wrong);border-width:2px}
.signup .agree{display:flex;gap:.6em;align-items:flex-start}
.signup .agree label{font-weight:400;margin:0;padding:.55rem 0}
.signup .agree input{width:1.25rem;height:1.25rem;margin:.75rem 0 0;flex:none;accent-color:var(--primary)}
.signup .consent{color:var(--muted);font-size:.9rem;margin:.9em 0 0}
.signup button{width:100%}
.signup .wrong{color:var(--wrong);font-weight:600;font-size:.9rem;margin:-.7em 0 1.1em}
body:has(.message) .frame{max-width:34.5rem}
.message{max-width:32rem;margin:clamp(0rem,3vh,2rem) auto 0;padding:clamp(1.25rem,5vw,2.25rem);border:1px solid var(--line);border-radius:1rem;background:var(--card);overflow-wrap:anywhere}
.message h1{font-size:clamp(1.5rem,1.3rem + 1vw,1.9rem);margin-bottom:.5em}
.message form{margin:1.6em 0}
.message>:last-child,.message form>:last-child{margin-bottom:0}
.message .signup{padding:0;border:0}
.choices{padding-bottom:1.6em;border-bottom:1px solid var(--line)}
.choices p{margin:0}
.choices label{display:flex;gap:.75em;align-items:flex-start;min-height:2.75rem;padding:.5rem 0;cursor:pointer}
.choices label span{min-width:0;flex:1}
.choices input{width:1.25rem;height:1.25rem;margin:.22rem 0 0;flex:none;accent-color:var(--primary)}
.choices button{margin-top:1em}
button.plain{background:transparent;color:var(--text);border-color:var(--field)}
.signup .trap{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.bottom{padding:1.5rem 0;border-top:1px solid var(--line);color:var(--muted);font-size:.9rem}
.bottom .frame{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:baseline}
.languages{margin:0}
.languages[open]{flex-basis:100%}
.languages summary{cursor:pointer;padding:.25rem 0}
.languages ul{display:flex;flex-wrap:wrap;gap:0 1rem;list-style:none;margin:.5rem 0 0;padding:0}
.languages li{margin:0}
.languages a{display:inline-block;padding:.35rem 0}
.languages a[aria-current]{font-weight:600;text-decoration:none}
@media(min-width:40rem){.signup button{width:auto}}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{.signup{display:none}}
`.replaceAll("\n", "");

/**
 * The style sheet of a brand's pages: its colors and fonts, for small and large screens. It follows the reader's dark mode,
 * unless the page sets colors itself (`colored`): those were chosen for one background.
 */
export function buildStyle(colors: ThemeColors, fonts: ThemeFonts, colored: boolean): string {
  const ground = colors.background ?? LIGHT.ground;
  const own = buildPalette(colors, ground, colors.text ?? (luminance(ground) > 0.4 ? LIGHT.text : DARK.text));
  const body = toFontFamily(fonts.body, SANS);
  const light = luminance(ground) > 0.4;
  const scheme = !light ? "dark" : colored ? "light" : "light dark";
  const root = `:root{color-scheme:${scheme};--body:${body};--heading:${toFontFamily(fonts.heading, body)};${own}}`;
  // A brand with a dark background looks the same in both modes. A logo keeps the background that it was drawn for; the color is that
  // of its name, which stands there when it cannot be loaded.
  const night =
    scheme === "light dark"
      ? `@media(prefers-color-scheme:dark){:root{${buildPalette(colors, DARK.ground, DARK.text)}}.top img{max-height:3.25rem;padding:.375rem .625rem;background:${ground};color:${readableOn(ground)}}}`
      : "";
  return root + RULES + night;
}

/** Colors of a button in the brand's color. */
export function getButtonColors(colors: ThemeColors): { background: string; color: string } {
  const background = colors.primary ?? colors.accent ?? PRIMARY;
  return { background, color: readableOn(background) };
}

/** The colors of a page on one background, as custom properties. */
function buildPalette(colors: ThemeColors, ground: string, wanted: string): string {
  const text = contrast(wanted, ground) >= 4.5 ? wanted : readableOn(ground);
  const { background: primary, color: onPrimary } = getButtonColors(colors);
  // A button that hardly differs from the background gets a visible border.
  const edge = contrast(primary, ground) >= 1.6 ? primary : mix(ground, text, 0.5);
  // Text stands on the background and on cards. On a middling background a card would take what contrast there is.
  const tinted = mix(ground, text, 0.05);
  const card = contrast(toReadable(text, [ground, tinted]), tinted) >= 4.5 ? tinted : ground;
  const onBoth = (color: string): string => toReadable(color, [ground, card]);
  return [
    `--ground:${ground}`,
    `--text:${onBoth(text)}`,
    `--muted:${onBoth(mix(text, ground, 0.38))}`,
    `--line:${mix(ground, text, 0.16)}`,
    `--field:${mix(ground, text, 0.45)}`,
    `--card:${card}`,
    `--primary:${primary}`,
    `--edge:${edge}`,
    `--on-primary:${onPrimary}`,
    `--link:${onBoth(colors.accent ?? primary)}`,
    `--wrong:${onBoth("#c22f2f")}`,
  ].join(";");
}

/** The fonts of a brand's name for one, with others behind it. */
export function toFontFamily(name: string | null | undefined, fallback: string): string {
  const plain = name?.replace(/[^\p{L}\p{N} -]/gu, "").trim();
  return plain ? `"${plain}",${fallback}` : fallback;
}

type Rgb = readonly [red: number, green: number, blue: number];

/** Relative luminance of a color, 0 to 1 (WCAG 2). Colors are written #rrggbb. */
export function luminance(color: string): number {
  const [red, green, blue] = parse(color).map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratio of two colors, 1 to 21 (WCAG 2). */
export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** A color mixed with a share of another one, 0 to 1. */
export function mix(color: string, other: string, share: number): string {
  const [a, b] = [parse(color), parse(other)];
  return hex(a.map((one, i) => one * (1 - share) + (b[i] as number) * share) as unknown as Rgb);
}

/** Black or white, whichever contrasts more with this color. */
export function readableOn(color: string): string {
  const dark = contrast(color, "#111111") >= 4.5 ? "#111111" : "#000000";
  return contrast(color, "#ffffff") >= contrast(color, dark) ? "#ffffff" : dark;
}

/** The color, moved towards black or white until its contrast with all the grounds is at least 4.5 (WCAG 2, AA). */
export function toReadable(color: string, grounds: readonly string[]): string {
  const end = contrast("#000000", grounds[0] ?? "#ffffff") >= contrast("#ffffff", grounds[0] ?? "#ffffff") ? "#000000" : "#ffffff";
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mix(color, end, share);
    if (grounds.every((ground) => contrast(candidate, ground) >= 4.5)) return candidate;
  }
  return end;
}

function parse(color: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb;
}

function hex(rgb: Rgb): string {
  return `#${rgb.map((one) => Math.round(one).toString(16).padStart(2, "0")).join("")}`;
}
