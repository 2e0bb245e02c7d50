"use strict";
// The first script of the page: sets the theme, and collects errors while the page loads.
const faults = [];
addEventListener("error", (event) => faults.push(`error: ${event.message ?? event.target.outerHTML}`), true);
addEventListener("unhandledrejection", (event) => faults.push(`error: ${event.reason}`));
for (const level of ["warn", "error"]) console[level] = (...texts) => faults.push(`console: ${texts}`);
localStorage.setItem("mdbook-theme", THEME);
