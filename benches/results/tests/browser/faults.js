"use strict";
// The first script of the page: collects errors while the page loads.
const faults = [];
addEventListener("error", (event) => faults.push(`error: ${event.message ?? event.target.outerHTML}`), true);
addEventListener("unhandledrejection", (event) => faults.push(`error: ${event.reason}`));
addEventListener("securitypolicyviolation", (event) => faults.push(`request: ${event.blockedURI}`));
for (const level of ["warn", "error"]) console[level] = (...texts) => faults.push(`console: ${texts}`);
