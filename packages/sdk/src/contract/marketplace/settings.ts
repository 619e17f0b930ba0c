import * as z from "../zod.ts";
import { line, prose } from "./text.ts";

/*
 * Settings of an activation: a listing describes them in a small part of JSON Schema, a brand fills them in, and the agent gets
 * them in its events.
 */

const SETTINGS_LIMITS = { settings: 30, choices: 50, text: 2000 } as const;

const Key = z
  .string()
  .regex(/^[a-z][a-zA-Z0-9_]{0,39}$/, "Use 1 to 40 letters, digits and _, starting with a lowercase letter.")
  .refine((key) => !(key in {}), { message: "This name has a meaning of its own in programs.", params: { code: "reserved" } });

const words = {
  title: line(100).optional().meta({ description: "The label in forms; the name of the setting without it" }),
  description: prose(500).optional().meta({ description: "Explanation for the person who fills it in" }),
};
const text = z.string().max(SETTINGS_LIMITS.text);
const length = z.int().min(0).max(SETTINGS_LIMITS.text).optional();
const bound = z.number().optional();

const SettingSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("string"),
    ...words,
    enum: z.array(text.min(1)).min(1).max(SETTINGS_LIMITS.choices).optional().meta({ description: "The values to choose from" }),
    minLength: length,
    maxLength: length,
    default: text.optional(),
  }),
  z.strictObject({ type: z.literal("integer"), ...words, minimum: bound, maximum: bound, default: z.int().optional() }),
  z.strictObject({ type: z.literal("number"), ...words, minimum: bound, maximum: bound, default: z.number().optional() }),
  z.strictObject({ type: z.literal("boolean"), ...words, default: z.boolean().optional() }),
]);
type SettingSchema = z.infer<typeof SettingSchema>;

export type SettingValue = string | number | boolean;
/** The values of an activation, by the names of the settings. */
export type Settings = Readonly<Record<string, SettingValue>>;

/** The settings that a listing has: an object schema with properties of one level. */
export const SettingsSchema = z
  .strictObject({
    type: z.literal("object"),
    properties: z.record(Key, SettingSchema).refine((properties) => Object.keys(properties).length <= SETTINGS_LIMITS.settings, {
      message: `At most ${SETTINGS_LIMITS.settings} settings.`,
      params: { code: "too_big" },
    }),
    required: z.array(z.string()).max(SETTINGS_LIMITS.settings).optional(),
  })
  .superRefine(({ properties, required = [] }, ctx) => {
    const refuse = (path: PropertyKey[], code: string, message: string) =>
      ctx.addIssue({ code: "custom", path, message, params: { code } });
    for (const [at, name] of required.entries())
      if (!Object.hasOwn(properties, name)) refuse(["required", at], "unknown_setting", `There is no setting ${JSON.stringify(name)}.`);
    for (const [name, schema] of Object.entries(properties)) {
      const { default: given } = schema;
      const fault = given === undefined ? null : findFault(schema, given);
      if (fault) refuse(["properties", name, "default"], fault.code, fault.message);
    }
  })
  .meta({ id: "SettingsSchema" });
export type SettingsSchema = z.infer<typeof SettingsSchema>;

const NO_SETTINGS: SettingsSchema = { type: "object", properties: {} };

/** The values of an activation as answers and events have them. */
export const SettingsValues = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

interface ValueFault {
  readonly code: string;
  readonly message: string;
}

/** The fault of one value, with the name of its setting. */
interface SettingFault extends ValueFault {
  readonly name: string;
}

/** Faults of the values that a brand has filled in; a schema of null has no settings. */
export function listSettingFaults(schema: SettingsSchema | null, values: Readonly<Record<string, unknown>>): SettingFault[] {
  const { properties, required = [] } = schema ?? NO_SETTINGS;
  const faults: SettingFault[] = [];
  for (const [name, value] of Object.entries(values)) {
    const of = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const fault = of ? findFault(of, value) : { code: "unknown_setting", message: "The agent has no such setting." };
    if (fault) faults.push({ name, ...fault });
  }
  for (const name of required)
    if (!Object.hasOwn(values, name) && properties[name]?.default === undefined)
      faults.push({ name, code: "required", message: "The agent needs this setting." });
  return faults;
}

/** The values that count: those that fit the schema as it is now, and its defaults in place of others. */
export function effectiveSettings(schema: SettingsSchema | null, values: Readonly<Record<string, unknown>>): Record<string, SettingValue> {
  const found: Record<string, SettingValue> = {};
  for (const [name, of] of Object.entries(schema?.properties ?? {})) {
    const value = Object.hasOwn(values, name) && findFault(of, values[name]) === null ? (values[name] as SettingValue) : of.default;
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function findFault(schema: SettingSchema, value: unknown): ValueFault | null {
  if (schema.type === "boolean") return typeof value === "boolean" ? null : wrong("true or false");
  if (schema.type === "string") return typeof value === "string" ? findTextFault(schema, value) : wrong("a text");
  if (typeof value !== "number" || !Number.isFinite(value)) return wrong("a number");
  if (schema.type === "integer" && !Number.isSafeInteger(value)) return wrong("a whole number");
  const { minimum, maximum } = schema;
  if (minimum !== undefined && value < minimum) return { code: "too_small", message: `At least ${minimum}.` };
  if (maximum !== undefined && value > maximum) return { code: "too_big", message: `At most ${maximum}.` };
  return null;
}

function findTextFault(schema: Extract<SettingSchema, { type: "string" }>, value: string): ValueFault | null {
  const { minLength = 0, maxLength = SETTINGS_LIMITS.text } = schema;
  if (!value.isWellFormed() || /[^\P{Cc}\t\n\r]/u.test(value))
    return { code: "invalid_characters", message: "This text cannot contain control characters other than line breaks and tabs." };
  if (value.length < minLength) return { code: "too_small", message: `At least ${minLength} characters.` };
  if (value.length > maxLength) return { code: "too_big", message: `At most ${maxLength} characters.` };
  if (schema.enum && !schema.enum.includes(value)) return { code: "invalid_value", message: `One of: ${schema.enum.join(", ")}.` };
  return null;
}

function wrong(expected: string): ValueFault {
  return { code: "invalid_type", message: `This must be ${expected}.` };
}
