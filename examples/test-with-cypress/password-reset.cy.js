describe("resetting a password", () => {
  beforeEach(() => {
    cy.task("mail:reset");
    cy.visit("/");
  });

  it("works once, by the link of the mail", () => {
    cy.get("input[name=email]").type("ada@example.com");
    cy.contains("button", "Reset password").click();
    cy.contains("a mail is on its way");
    cy.task("mail:wait", { to: "ada@example.com", subject: "Reset your password" }).then(({ links: [link] }) => {
      cy.visit(link);
      cy.get("input[name=password]").type("correct horse battery staple");
      cy.contains("button", "Save").click();
      cy.contains("Your password is changed, Ada.");
      cy.visit(link);
      cy.contains("This link is not valid any more.");
    });
  });

  it("sends nothing to a stranger", () => {
    cy.get("input[name=email]").type("mallory@example.com");
    cy.contains("button", "Reset password").click();
    cy.contains("a mail is on its way");
    cy.task("mail:none", { to: "mallory@example.com" });
  });
});
