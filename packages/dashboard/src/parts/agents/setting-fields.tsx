/** @jsxImportSource preact */
import type { Activation, CatalogAgent } from "@mailsvc/sdk/contract";
import { Field } from "../field.tsx";
import type { FormValues } from "../form-button.tsx";

type Schema = NonNullable<CatalogAgent["settingsSchema"]>;
type Values = Activation["settings"];

interface Props {
  readonly schema: Schema;
  /** The values so far. */
  readonly values: Values;
}

/** The fields for the settings of an agent. */
export function SettingFields({ schema: { properties, required = [] }, values }: Props) {
  return (
    <>
      {Object.entries(properties).map(([name, one]) => (
        <Field key={name} label={one.title ?? name} hint={one.description}>
          <Input name={name} schema={one} required={required.includes(name)} value={values[name] ?? one.default} />
        </Field>
      ))}
    </>
  );
}

interface InputProps {
  readonly name: string;
  readonly schema: Schema["properties"][string];
  readonly required: boolean;
  readonly value: string | number | boolean | undefined;
}

function Input({ name, schema, required, value }: InputProps) {
  const field = { name: `settings.${name}`, required };
  if (schema.type === "boolean")
    return (
      <select {...field} defaultValue={value === undefined ? "" : String(value)}>
        {required ? null : <option value="">Not set</option>}
        <option value="true">Yes</option>
        <option value="false">No</option>
      </select>
    );
  if (schema.type === "string" && schema.enum)
    return (
      <select {...field} defaultValue={String(value ?? "")}>
        {required && value !== undefined ? null : <option value="">Not set</option>}
        {schema.enum.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  if (schema.type === "string") return <input {...field} maxLength={schema.maxLength ?? 2000} defaultValue={String(value ?? "")} />;
  const { minimum: min, maximum: max } = schema;
  const bounds = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  return <input {...field} type="number" step={schema.type === "integer" ? 1 : "any"} {...bounds} defaultValue={String(value ?? "")} />;
}

/** Reads the settings that are filled in. Empty ones get their defaults. */
export function readSettings({ properties }: Schema, form: FormValues): Values {
  const found: Record<string, string | number | boolean> = {};
  for (const [name, { type }] of Object.entries(properties)) {
    const text = form.text(`settings.${name}`);
    if (text !== "") found[name] = type === "string" ? text : type === "boolean" ? text === "true" : Number(text);
  }
  return found;
}
