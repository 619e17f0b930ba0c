// Records the terminal that README.md shows: docs/pictures/terminal.svg. It runs the commands against a server of its own, and draws what
// they print. It needs `script` of util-linux.
//
//   npm run recording
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildPackages } from "./build.mjs";
import { drawRecording } from "./recording/draw.mjs";
import { recordCommands } from "./recording/record.mjs";

const file = fileURLToPath(new URL("../docs/pictures/terminal.svg", import.meta.url));

if (!(await buildPackages({ declarations: false }))) process.exit(1);
const svg = drawRecording(await recordCommands());
writeFileSync(file, svg);
console.log(`docs/pictures/terminal.svg: ${(svg.length / 1000).toFixed(1)} kB`);
