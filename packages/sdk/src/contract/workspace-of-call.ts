import * as z from "./zod.ts";

/** The workspace that a decision of the operator is about, where nothing else in the call names one. */
export const WorkspaceOfCall = z
  .string()
  .max(100)
  .optional()
  .meta({ description: "With the operator key: the workspace it is for, if the server has several" });
