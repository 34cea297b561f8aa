// Light or dark: as the system says, until somebody chooses.

const THEME = "quipu.theme";

/** @returns {"light" | "dark"} */
export function current() {
  const chosen = localStorage.getItem(THEME);
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function apply() {
  document.documentElement.dataset["theme"] = current();
}

export function toggle() {
  localStorage.setItem(THEME, current() === "dark" ? "light" : "dark");
  apply();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
