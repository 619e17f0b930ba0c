import * as z from "./zod.ts";

/** The relay of mail for which nothing else is said. */
export const DEFAULT_RELAY = "default";

export const RelayName = z
  .string()
  .max(40)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/)
  .meta({ description: "Name of the relay: lower-case letters, digits and dashes", examples: ["ses"] });

/** The relay that a workspace, sender or campaign names. */
export const RelayChoice = RelayName.nullable().meta({ description: "Relay that takes its mail; null for none of its own" });
