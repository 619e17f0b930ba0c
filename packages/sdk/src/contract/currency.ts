import * as z from "./zod.ts";

/** A currency by its code (ISO 4217). */
export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, "Write a currency such as USD or EUR.")
  .meta({ description: "Currency, such as USD or EUR" });
