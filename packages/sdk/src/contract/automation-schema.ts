import { NewAutomation } from "./automations.ts";
import * as z from "./zod.ts";

/**
 * The JSON Schema (2020-12) of the file of an automation, for editors. What it cannot say is checked by `mailsvc automations validate`:
 * whether connections lead to steps, and each step can be reached.
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
