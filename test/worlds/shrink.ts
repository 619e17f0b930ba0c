import type { Script, Step } from "./script.ts";

/**
 * Makes a script that fails shorter, as long as it still fails: it leaves out stretches of steps, large ones first, then single steps, until
 * none can be left out any more. `fails` lives the world through, so this takes as many worlds as it tries.
 */
export async function shrink(script: Script, fails: (script: Script) => Promise<boolean>, most = 200): Promise<Script> {
  let steps = script.steps;
  let tries = 0;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < steps.length && tries < most; ) {
      const without: readonly Step[] = [...steps.slice(0, at), ...steps.slice(at + size)];
      tries += 1;
      if (await fails({ ...script, steps: without })) steps = without;
      else at += size;
    }
  }
  return { ...script, steps };
}

/** A script as a test that can be pasted into `test/worlds/found.test.ts`. */
export function toTest(script: Script, broken: readonly string[]): string {
  const { steps, ...rest } = script;
  const lines = steps.map((step) => `    ${JSON.stringify(step)},`);
  const head = Object.entries(rest).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`);
  return [
    ...broken.map((what) => `// ${what}`),
    `held("${broken[0]?.split(":")[0] ?? "holds"}", {`,
    ...head,
    "  steps: [",
    ...lines,
    "  ],",
    "});",
  ].join("\n");
}
