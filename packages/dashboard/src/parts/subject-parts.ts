/** Words and variables in turns, beginning with words: `Hello {{name}}` is `Hello ` and `{{name}}`. */
export function splitVariables(text: string): string[] {
  return text.split(/(\{\{\{?[^{}]*\}?\}\})/);
}
