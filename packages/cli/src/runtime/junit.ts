/** A case of a report: it passed unless it has a failure, or a reason why it was skipped. */
export interface JunitCase {
  readonly group: string;
  readonly name: string;
  readonly seconds?: number;
  readonly failure?: { readonly message: string; readonly text: string };
  readonly skipped?: string;
  /** Output of a case that passed. */
  readonly output?: string;
}

/** A report in the form that CI systems read; `properties` say more about all of it. */
export function renderJunit(suite: string, all: readonly JunitCase[], properties: Readonly<Record<string, string>> = {}): string {
  const cases = all.map(({ group, name, seconds = 0, failure, skipped, output }) => {
    const head = `  <testcase classname="${escapeXml(group)}" name="${escapeXml(name)}" time="${seconds.toFixed(3)}"`;
    if (skipped !== undefined) return `${head}>\n    <skipped message="${escapeXml(skipped)}"/>\n  </testcase>`;
    if (failure)
      return `${head}>\n    <failure message="${escapeXml(failure.message)}">${escapeXml(failure.text)}</failure>\n  </testcase>`;
    return output === undefined ? `${head}/>` : `${head}>\n    <system-out>${escapeXml(output)}</system-out>\n  </testcase>`;
  });
  const failures = all.filter(({ failure }) => failure !== undefined).length;
  const skipped = all.filter((one) => one.skipped !== undefined).length;
  const head = `<testsuite name="${escapeXml(suite)}" tests="${all.length}" failures="${failures}" skipped="${skipped}">`;
  const facts = Object.entries(properties).map(([name, value]) => `    <property name="${escapeXml(name)}" value="${escapeXml(value)}"/>`);
  const block = facts.length === 0 ? [] : ["  <properties>", ...facts, "  </properties>"];
  return `${['<?xml version="1.0" encoding="UTF-8"?>', head, ...block, ...cases, "</testsuite>"].join("\n")}\n`;
}

function escapeXml(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  // XML 1.0 has no other control characters.
  return text.replace(/[&<>"]/g, (char) => names[char] ?? char).replace(/[^\t\n\r\x20-\uffff]/g, "\ufffd");
}
