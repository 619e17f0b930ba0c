import * as z from "./zod.ts";

/** A response that is a file: bytes as they are stored, in whatever charset. */
export const Bytes = z
  .custom<Uint8Array>((value) => value instanceof Uint8Array)
  .meta({ type: "string", format: "binary", description: "The bytes of a file" });
