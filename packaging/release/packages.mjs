// The npm packages.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PUBLISHED } from "../../scripts/published.mjs";
import { cleanEnvironment, run } from "./command.mjs";
import { startRegistry } from "./registry.ts";
import { MAIL, startProgram } from "./server.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const SEND = `import { Mailsvc } from "@mailsvc/sdk";
const client = new Mailsvc();
const { id } = await client.emails.send(${JSON.stringify(MAIL)});
const mail = await client.inbox.wait({ to: ${JSON.stringify(MAIL.to)} });
const { status } = await client.emails.get(id);
console.log(JSON.stringify({ subject: mail.subject, status }));
`;
const VERIFY = `import { readFileSync } from "node:fs";
import { verifySignature } from "@mailsvc/agent-kit";
const [signature] = process.argv.slice(2);
const judge = (body) => verifySignature({ body, signature, secrets: ${JSON.stringify(SECRET)} });
console.log(JSON.stringify([judge(readFileSync("event.json")), judge("{}")]));
`;

const nameOf = (folder) => JSON.parse(readFileSync(new URL(`../../packages/${folder}/package.json`, import.meta.url), "utf8")).name;

/** The file that npm packs a package into, by its folder. */
export const packageFile = (folder, version) => `${nameOf(folder).replace("@", "").replace("/", "-")}-${version}.tgz`;

const listFiles = (version) => PUBLISHED.map((folder) => packageFile(folder, version));

export const packages = {
  name: "packages",
  files: listFiles,
  needs: { npm: "Node" },

  async make({ root, out }) {
    await Promise.all(
      PUBLISHED.map((folder) => run("npm", ["pack", "--silent", "--pack-destination", out], { cwd: join(root, "packages", folder) })),
    );
  },

  async check({ folder, version, place, ok }) {
    const home = place("home");
    const project = place("project");
    const env = cleanEnvironment(home);
    // Packages of others come from those that this repository has installed, so that a check needs no network.
    await using registry = await startRegistry(place("registry"));
    writeFileSync(join(home, ".npmrc"), `registry=${registry.url}\naudit=false\nfund=false\n`);
    writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
    const tarballs = listFiles(version).map((file) => join(folder, file));
    await run("npm", ["install", ...tarballs], { cwd: project, env });
    assertInstalled(project, version);
    ok(`npm install of ${tarballs.length} tarballs in an empty project`);
    await useServer({ project, env, ok });
    await useKit({ project, env, ok });
    await createAgent({ project, env, folder, ok });
  },
};

/** Throws when npm took a package of this version from elsewhere than the tarballs. */
function assertInstalled(project, version) {
  const { packages: locked } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
  for (const folder of PUBLISHED) {
    const file = packageFile(folder, version);
    if (!Object.values(locked).some(({ resolved }) => resolved?.startsWith("file:") && resolved.endsWith(`/${file}`)))
      throw new Error(`${file}: npm did not install it.`);
  }
}

async function useServer({ project, env, ok }) {
  const args = ["mailsvc", "dev", "--port", "0", "--smtp-port", "0", "--plain"];
  await using server = await startProgram({ command: "npx", args, cwd: project, env, readyFile: join(project, "ready.json"), group: true });
  const { url, apiKey } = server.ready;
  ok("npx mailsvc dev becomes ready");
  writeFileSync(join(project, "send.mjs"), SEND);
  const said = await run("node", ["send.mjs"], { cwd: project, env: { ...env, MAILSVC_URL: url, MAILSVC_API_KEY: apiKey } });
  if (said !== `${JSON.stringify({ subject: MAIL.subject, status: "delivered" })}\n`)
    throw new Error(`A send with the SDK ended as ${said}`);
  ok("a send with the SDK; the mail is in the inbox");
}

async function useKit({ project, env, ok }) {
  writeFileSync(join(project, "event.json"), JSON.stringify({ type: "agent.activated" }));
  writeFileSync(join(project, "verify.mjs"), VERIFY);
  const sign = ["mailsvc", "signature", "sign", "--secret", SECRET, "--body", "event.json", "--jq", ".signature"];
  const signature = (await run("npx", sign, { cwd: project, env })).trim();
  const said = await run("node", ["verify.mjs", signature], { cwd: project, env });
  if (said !== "[0,null]\n") throw new Error(`verifySignature of the agent kit answered ${said.trim()}, not [0,null].`);
  ok("verifySignature of the agent kit accepts what `mailsvc signature sign` signed, and no other body");
}

async function createAgent({ project, env, folder, ok }) {
  await run("npx", ["create-mailsvc-agent", "greeter", "--packages", folder], { cwd: project, env });
  const agent = join(project, "greeter");
  if (!existsSync(join(agent, "agent.test.ts"))) throw new Error("create-mailsvc-agent made no agent.test.ts.");
  await run("npm", ["install"], { cwd: agent, env });
  const said = await run("npm", ["test"], { cwd: agent, env });
  if (!/Tests +\d+ passed/.test(said))
    throw new Error(`npm test of the project of create-mailsvc-agent says of no test that it passed:\n${said}`);
  ok("create-mailsvc-agent makes a project whose npm test passes");
}
