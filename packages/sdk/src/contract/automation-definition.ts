import { AutomationConnection } from "./automation-connection.ts";
import { AUTOMATION_LIMITS } from "./automation-fields.ts";
import { listDefinitionFaults } from "./automation-graph.ts";
import { AutomationStep } from "./automation-steps.ts";
import * as z from "./zod.ts";

/** The fields that make the graph of an automation. */
export const definitionFields = {
  steps: z.array(AutomationStep).max(AUTOMATION_LIMITS.steps).meta({ description: "The steps, each with an id" }),
  connections: z
    .array(AutomationConnection)
    .max(AUTOMATION_LIMITS.steps * 3)
    .meta({ description: "What follows what: { from, to, branch }. The first one begins at trigger" }),
};

/** The graph of an automation. */
export const AutomationGraph = z
  .strictObject(definitionFields)
  .superRefine((definition, ctx) => {
    for (const { path, code, message } of listDefinitionFaults(definition))
      ctx.addIssue({ code: "custom", path, message, params: { code } });
  })
  .meta({ id: "AutomationGraph" });
