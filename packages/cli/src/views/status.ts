import { type Tone, toneOf } from "@mailsvc/sdk/contract/tones";
import type { Style } from "../types.ts";

const COLORS: Readonly<Record<Exclude<Tone, "plain">, "green" | "yellow" | "red">> = {
  good: "green",
  busy: "yellow",
  warn: "yellow",
  bad: "red",
};

/** Paints a state by its tone; of a longer text its first word is the state. */
export function paintStatus(style: Style, text: string): string {
  const tone = toneOf(text.split(/[: ]/)[0] ?? text);
  return tone === "plain" ? text : style[COLORS[tone]](text);
}

export function dim(style: Style, text: string): string {
  return style.dim(text);
}
