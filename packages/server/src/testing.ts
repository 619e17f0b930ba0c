export { createWorld, type TestWorld, type WorldOptions } from "./testing/world.ts";
