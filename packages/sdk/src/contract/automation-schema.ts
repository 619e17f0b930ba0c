import { NewAutomation } from "./automations.ts";
import * as z from "./zod.ts";

/**
 * JSON Schema (2020-12) of the file of an automation, for editors. `mailsvc automations validate` checks the rest: that connections lead
 * to steps, and that each step can be reached.
 */
export function buildAutomationSchema(): Record<string, unknown> {
  const { $schema, properties, ...schema } = z.toJSONSchema(NewAutomation, {
    io: "input",
    // Rule trees and custom fields describe themselves.
    unrepresentable: "any",
  });
  return {
    $schema,
    title: "Automation of mailsvc",
    ...schema,
    properties: { $schema: { type: "string", description: "This schema, for editors" }, ...properties },
  };
}
