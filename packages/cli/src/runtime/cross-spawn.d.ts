declare module "cross-spawn" {
  import type { ChildProcess, SpawnOptions } from "node:child_process";

  /**
   * Starts a program as `spawn` of Node does. On Windows it also finds what PATHEXT adds, such as npm.cmd, and passes arguments to it as
   * they are.
   */
  export default function spawn(command: string, args: readonly string[], options: SpawnOptions): ChildProcess;
}
