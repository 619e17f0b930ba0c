const MAX_PATH = 500;
// Ids of contacts are left out: they would outlive the erasure of a person.
const ID = /^(?!con_)[a-z]{2,5}_[0-9a-z]{1,40}$/;
// A word of a path. What has other digits than a version may be a number of a phone or a token.
const WORD = /^(?:[a-z_][a-z_.-]{0,24}|v\d{1,2})$/i;

/**
 * A path that names nobody and opens nothing. Ids of this service stay; addresses, names, tokens and other values in the place of a
 * parameter become that parameter, and `*` where there is none.
 */
export function toSafePath(pathname: string, route: string | null): string {
  const own = pathname.slice(0, MAX_PATH).split("/");
  const its = route?.split("/") ?? [];
  const fits = own.length === its.length && its.every((segment, i) => segment.startsWith(":") || segment === own[i]);
  return own
    .map((segment, i) => {
      const named = fits ? (its[i] as string) : "*";
      if (fits && !named.startsWith(":")) return segment;
      if (segment === "" || ID.test(segment) || (!fits && WORD.test(segment))) return segment;
      return named;
    })
    .join("/");
}
