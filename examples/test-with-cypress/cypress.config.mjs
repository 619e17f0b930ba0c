import { startApp } from "./app.mjs";
import { connectMail } from "./mail-tasks.mjs";

export default {
  e2e: {
    specPattern: "*.cy.js",
    supportFile: false,
    async setupNodeEvents(on, config) {
      const { sdk, tasks } = await connectMail();
      const app = await startApp(sdk);
      on("task", tasks);
      on("after:run", () => app.close());
      return { ...config, baseUrl: app.url };
    },
  },
};
