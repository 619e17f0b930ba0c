const NO_UNICODE = "The text is not valid Unicode (a lone surrogate).";

/** Describes the reason a text's characters are refused: `why`, unless the text is not valid Unicode. */
export function describeCharacters(text: unknown, why: string): string {
  return typeof text === "string" && !text.isWellFormed() ? NO_UNICODE : why;
}

/** The issue of a refinement that refuses some characters, and lone surrogates. */
export function refuseCharacters(why: string) {
  return {
    error: ({ input }: { readonly input?: unknown }): string => describeCharacters(input, why),
    params: { code: "invalid_characters" },
  };
}
