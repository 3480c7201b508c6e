/**
 * Makes `console.assert` throw, so that a snippet whose assertion does not hold fails its test instead of printing a line.
 *
 * @module
 */
console.assert = (condition?: boolean, ...data: unknown[]): void => {
  if (!condition) throw new Error(["A snippet's assertion does not hold", ...data].join(": "));
};
