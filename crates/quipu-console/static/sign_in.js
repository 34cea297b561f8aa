// Signing in: a dialog over the page, which stays as it is and goes on once the key is good.

import { bus, signIn } from "./api.js";
import { h, replace } from "./dom.js";

/** Opens the dialog whenever a key is needed. */
export function watchSignIn() {
  bus.addEventListener("signin", (event) => ask(/** @type {CustomEvent<string>} */ (event).detail));
}

/** @param {string} why */
function ask(why) {
  if (document.querySelector("dialog.sign-in")) return;
  const input = h("input", { type: "password", id: "key", name: "key", autocomplete: "off", required: true, placeholder: "quipu_…" });
  const problem = h("p", { class: "problem", role: "alert" });
  const button = h("button", { class: "primary", type: "submit" }, "Sign in");
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    button.disabled = true;
    const refused = await signIn(input.value);
    button.disabled = false;
    replace(problem, refused);
    if (refused === null) dialog.remove();
    else input.select();
  };
  const form = h("form", { onsubmit: submit },
    h("img", { src: "/console/icon.svg", alt: "", width: 40, height: 40 }),
    h("h2", null, "Sign in to Quipu"),
    h("p", { class: "muted" }, /required/.test(why) ? "This server asks for a key." : `The key is not good any more: ${why}`),
    h("label", { for: "key" }, "Key"), input, problem, button,
    h("p", { class: "muted small" }, "The operator's key was printed when the server first started. Another one is made with"),
    h("pre", null, "quipu key create --agent '*' --authority 10"),
    h("p", { class: "muted small" }, "It is kept in this tab only and forgotten when the tab is closed."));
  const dialog = h("dialog", { class: "sign-in", "aria-label": "Sign in" }, form);
  // There is nothing behind the dialog that could be used without a key.
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}
