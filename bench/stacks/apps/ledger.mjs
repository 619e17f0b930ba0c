import { once } from "node:events";
import { connect } from "node:net";

/** Steps of each workflow, and the result of each step. */
export const STEPS = 10;
export const RESULT = "r".repeat(1000);

/**
 * Opens the ledger of the comparison: what the work of a step does to the outside. A line is with the kernel when `note` returns, so that a
 * kill of this process takes none back.
 */
export async function openLedger(port) {
  const socket = connect({ port: Number(port), host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  return (n, step) => void socket.write(`${n} ${step}\n`);
}
