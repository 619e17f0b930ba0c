/** The longest turn of the event loop while `work` runs, in ms of this thread's own time: others may have the processor meanwhile. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  try {
    await work();
    await new Promise(setImmediate);
  } finally {
    clearImmediate(next);
  }
  return longest;
}
