// What every page is asked: what is seen, and what must not be there.
(() => {
  const seen = [];
  const number = (text) => text.match(/[\d.]+/g).map(Number);
  const over = (top, bottom) => {
    const alpha = top[3] ?? 1;
    return [0, 1, 2].map((at) => top[at] * alpha + bottom[at] * (1 - alpha));
  };
  const light = (color) => {
    const [r, g, b] = color.map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    if (!element) return number(getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? "18, 18, 18" : "255, 255, 255");
    const color = number(getComputedStyle(element).backgroundColor);
    return (color[3] ?? 1) === 1 ? color : over(color, ground(element.parentElement));
  };
  // WCAG 2.2, 1.4.3: 4.5 to 1, and 3 to 1 for large text.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || element.matches("script, title, option, :disabled")) continue;
    const style = getComputedStyle(element);
    const behind = ground(element);
    const [a, b] = [over(number(style.color), behind), behind].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < least) seen.push(`contrast ${ratio.toFixed(2)}: ${element.tagName}.${element.className}: ${node.data.slice(0, 40)}`);
  }
  for (const element of document.querySelectorAll("a, button, input, select, summary, svg[role]")) {
    const name = element.getAttribute("aria-label") || element.textContent.trim() || element.closest("label")?.textContent.trim();
    if (!name) seen.push("no name: " + element.outerHTML.slice(0, 80));
  }
  for (const element of document.querySelectorAll("main *, dialog *, header *")) {
    if (/^(script|iframe|img|image|object|embed|link|style|meta|base|video|audio|source|template|math|foreignobject|use)$/i.test(element.tagName)) seen.push("element " + element.tagName);
    for (const attribute of element.attributes) {
      if (/^on/i.test(attribute.name)) seen.push("listener " + attribute.name);
      if (/^(href|src|action|formaction|srcdoc|data)$/i.test(attribute.name) && !/^#\//.test(attribute.value)) seen.push(`${attribute.name}="${attribute.value.slice(0, 40)}"`);
    }
  }
  if (window.pwned) seen.push("a script of a model ran");
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) seen.push(`${wide} pixels beyond the screen`);
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)) seen.push("a character that is not seen");
  return [...new Set(seen)].slice(0, 20);
})()
