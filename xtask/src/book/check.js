"use strict";
// The last script of the page: what is wider than the page, and what has been collected.
addEventListener("load", () => {
    const root = document.documentElement;
    if (!root.classList.contains(THEME)) faults.push(`theme: ${root.className}, not ${THEME}`);
    if (innerWidth !== WIDTH) faults.push(`width: ${innerWidth}, not ${WIDTH}`);
    const scrolls = (element) => ["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX);
    const inside = (element, main) => {
        for (let at = element.parentElement; at && at !== main; at = at.parentElement) if (scrolls(at)) return true;
        return false;
    };
    const main = document.querySelector("main");
    const all = main ? [main, ...main.querySelectorAll("*")] : [];
    if (all.length < 10) faults.push(`elements: ${all.length} in main`);
    for (const element of all) {
        const box = element.getBoundingClientRect();
        if (box.width > 0 && box.right > innerWidth + 1 && !inside(element, main)) {
            const text = element.textContent.trim().slice(0, 40);
            faults.push(`overflow: <${element.localName}> ${text} ends at ${Math.round(box.right)} of ${innerWidth}`);
        }
    }
    const result = document.createElement("pre");
    result.id = "faults";
    result.textContent = faults.length === 0 ? "no fault" : faults.join("\n");
    document.body.append(result);
});
