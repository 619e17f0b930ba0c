#!/usr/bin/env node
// npm create mailsvc-agent FOLDER is mailsvc agent init FOLDER.
process.argv.splice(2, 0, "agent", "init");
await import("mailsvc/bin/mailsvc.mjs");
