import { ERROR_CODES } from "./errors.ts";
import * as z from "./zod.ts";

/** One invalid part of a request: its path (`to[3]`, `headers.X-Id`), a code and a message. */
export const ErrorDetail = z.object({
  path: z.string().meta({ description: "Path of the invalid field, e.g. to[3]; empty for the request as a whole" }),
  code: z.string(),
  message: z.string(),
  line: z.int().optional().meta({ description: "Line of the error in the field's text, from 1, if it has lines" }),
  column: z.int().optional().meta({ description: "Column of the error in its line, from 1" }),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

/** The body of every response other than 2xx (docs/reference/errors.md). */
export const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(ERROR_CODES),
      message: z.string(),
      status: z.int(),
      requestId: z.string(),
      details: z.array(ErrorDetail),
      hint: z.string(),
    }),
  })
  .meta({ id: "Error" });
export type ErrorBody = z.infer<typeof ErrorBody>;
