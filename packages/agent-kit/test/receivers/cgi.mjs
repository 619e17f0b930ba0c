// Serves a script for each request: the body on standard input, headers in variables; it prints the status.
import { spawn } from "node:child_process";
import { createServer } from "node:http";

const [script] = process.argv.slice(2);

const server = createServer((request, response) => {
  const headers = Object.entries(request.headers).map(([name, value]) => [
    `HTTP_${name.toUpperCase().replaceAll("-", "_")}`,
    String(value),
  ]);
  const env = { ...process.env, ...Object.fromEntries(headers), REQUEST_METHOD: request.method };
  const child = spawn("bash", [script], { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  request.pipe(child.stdin);
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  child.on("close", () => response.writeHead(Number(said) || 500).end());
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
