// A value, which both escape in HTML: Resend writes it in three braces, mailsvc in two.
const FOREIGN = /\{\{\{\s*([A-Za-z_]\w*)\s*\}\}\}/g;
const OWN = /(?<!\{)\{\{\s*([A-Za-z_]\w*)\s*\}\}(?!\})/g;

/** Converts the source of a template to that of mailsvc. Anything but text and variables stays as it is. */
export function toOwnSource(source: string): string {
  return source.replace(FOREIGN, "{{$1}}");
}

/** The source of a template as Resend shows it. */
export function toForeignSource(source: string): string {
  return source.replace(OWN, "{{{$1}}}");
}
