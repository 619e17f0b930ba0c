// The steps of a release, as they are shown.
const WIDTH = 48;

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Does one step and shows how long it took. Throws with the step's name when it fails. */
export async function step(what, work) {
  const from = performance.now();
  process.stdout.write(`  ${what.padEnd(WIDTH)} `);
  try {
    await work();
  } catch (error) {
    console.log("failed");
    throw new Error(`Could not ${what}: ${error.message}`);
  }
  console.log(seconds(performance.now() - from).padStart(8));
}

/** A table of files with their sizes. */
export function formatSizes(files) {
  const width = Math.max(...files.map(({ name }) => name.length));
  return files.map(({ name, size }) => `  ${name.padEnd(width)}  ${formatSize(size).padStart(9)}`).join("\n");
}

const formatSize = (bytes) => (bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
