import { AUTOMATION_LIMITS, TRIGGER_STEP } from "./automation-fields.ts";
import * as z from "./zod.ts";

/** Leads from the trigger or a step to the next step; out of a step with branches, along one of them. */
export const AutomationConnection = z
  .strictObject({
    from: z
      .string()
      .min(1)
      .max(AUTOMATION_LIMITS.stepId)
      .meta({ description: `The id of a step, or "${TRIGGER_STEP}"` }),
    to: z.string().min(1).max(AUTOMATION_LIMITS.stepId).meta({ description: "The id of a step" }),
    branch: z.string().min(1).max(AUTOMATION_LIMITS.stepId).optional().meta({ description: "Of a step with branches: which one" }),
  })
  .meta({ id: "AutomationConnection" });
export type AutomationConnection = z.infer<typeof AutomationConnection>;
