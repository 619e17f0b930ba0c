type Rgb = readonly [red: number, green: number, blue: number];

/** How bright a color is to the eye, 0 to 1 (WCAG 2). */
export function luminance(color: string): number {
  const [red, green, blue] = parse(color).map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** How well one color stands out from another, 1 to 21 (WCAG 2). */
export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** A color with a share of another one in it, 0 to 1. */
export function mixed(color: string, other: string, share: number): string {
  const [a, b] = [parse(color), parse(other)];
  return hex(a.map((one, i) => one * (1 - share) + (b[i] as number) * share) as unknown as Rgb);
}

/** Black or white, whichever is easier to read on this color. */
export function readableOn(color: string): string {
  return contrast(color, "#ffffff") >= contrast(color, "#111111") ? "#ffffff" : "#111111";
}

/** The color, moved towards black or white until it is read easily on the ground (4.5 to 1). */
export function readable(color: string, ground: string): string {
  const end = luminance(ground) > 0.4 ? "#000000" : "#ffffff";
  for (let share = 0; share < 1; share += 0.1) {
    const one = mixed(color, end, share);
    if (contrast(one, ground) >= 4.5) return one;
  }
  return end;
}

function parse(color: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb;
}

function hex(rgb: Rgb): string {
  return `#${rgb.map((one) => Math.round(one).toString(16).padStart(2, "0")).join("")}`;
}
