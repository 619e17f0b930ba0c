export { createWorld, type TestWorld, type WorkspaceClient, type WorldOptions } from "./testing/world.ts";
