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
