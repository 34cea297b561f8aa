// The URL is the state: which page, of what, and how its lists are filtered. Whoever is sent the URL sees the same.

/**
 * @typedef {object} Route
 * @property {string} page
 * @property {string[]} args what the page is of, such as a unit's id
 * @property {URLSearchParams} query
 */

/** @param {string} hash @returns {Route} */
export function parse(hash) {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...args] = path.split("/").filter(Boolean).map(decoded);
  return { page: page || "overview", args, query: new URLSearchParams(query) };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * The address of a page.
 * @param {string} page
 * @param {string[]} [args]
 * @param {Record<string, string | number | null | undefined> | URLSearchParams} [query]
 */
export function href(page, args = [], query = {}) {
  const path = [page, ...args].map(encodeURIComponent).join("/");
  const search = query instanceof URLSearchParams ? query : new URLSearchParams();
  if (!(query instanceof URLSearchParams)) {
    for (const [name, value] of Object.entries(query)) {
      if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
    }
  }
  const text = search.toString();
  return `#/${path}${text && `?${text}`}`;
}

/** Where we are. */
export const here = () => parse(location.hash);

/**
 * Goes to a page.
 * @param {string} page
 * @param {string[]} [args]
 * @param {Record<string, string | number | null | undefined> | URLSearchParams} [query]
 */
export function go(page, args, query) {
  location.hash = href(page, args, query);
}

/**
 * Changes the query of the present page without a step in the history: typing in a filter is not a journey.
 * @param {Record<string, string | number | null | undefined>} patch an empty value takes a filter away
 */
export function setQuery(patch) {
  const { page, args, query } = here();
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  history.replaceState(null, "", href(page, args, query));
}
