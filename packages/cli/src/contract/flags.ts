import { type Command, Option } from "commander";
import { type Field, flagSyntax, getDirection, isRepeatable, showsChoices } from "./fields.ts";
import { setOptionMetadata } from "./metadata.ts";

/** Collects the values of a repeatable flag. */
export function collect(text: string, before: unknown): string[] {
  return [...((before as string[] | undefined) ?? []), text];
}

/** Describes a field that is given as an argument. */
export function describeArgument(field: Field): string {
  return describe(field, false);
}

/** Builds the flag of a field. When the field is an argument too, the description is there. */
export function buildOption(field: Field, isArgument = false): Option {
  const repeatable = isRepeatable(field.kind);
  const about = isArgument ? `The same as <${field.name}>` : describe(field, field.required);
  const option = setOptionMetadata(new Option(flagSyntax(field), about), {
    type: field.kind,
    required: field.required,
    repeatable,
    ...(field.choices ? { choices: field.choices } : {}),
    ...(field.default === undefined ? {} : { default: field.default }),
  });
  return repeatable ? option.argParser(collect) : option;
}

/** Adds a field's flag; a boolean without a default also gets `--no-…`. */
export function addField(command: Command, field: Field, isArgument = false): void {
  const option = buildOption(field, isArgument);
  if (command.options.some((o) => o.long === option.long)) throw new Error(`${command.name()}: --${field.flag} is there twice`);
  command.addOption(option);
  if (field.kind === "boolean" && field.default === undefined) command.addOption(new Option(`--no-${field.flag}`, "The opposite"));
}

/** The name under which commander stores the flag of a field. */
export function getAttributeName(field: Field): string {
  return new Option(`--${field.flag}`).attributeName();
}

/** Only texts and numbers are worth showing as a default. */
function showsDefault({ default: value, kind }: Field): boolean {
  return kind !== "boolean" && value !== "" && (typeof value === "string" || typeof value === "number");
}

function describe(field: Field, required: boolean): string {
  const notes = [
    ...(required ? ["required"] : []),
    ...(isRepeatable(field.kind) ? ["repeatable"] : []),
    ...(field.kind === "values" ? ["name:=json for other values than text"] : []),
    ...(field.kind === "instant" && getDirection(field) === "past" ? ["1h, yesterday, 2030-01-31 or 2030-01-31T09:30:00Z"] : []),
    ...(field.kind === "json" ? ["JSON or @file"] : []),
    ...(showsChoices(field) ? [(field.choices ?? []).join(", ")] : []),
    ...(showsDefault(field) ? [`default ${String(field.default)}`] : []),
  ];
  return `${field.description}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`.trim();
}
