/** Reports the end of each part on stderr, because a build takes a minute. */
export async function report(label, work) {
  const from = performance.now();
  await work;
  console.error(`  ${label.padEnd(28)} ${((performance.now() - from) / 1000).toFixed(1)} s`);
}
