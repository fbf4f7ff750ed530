const box = document.querySelector("input"), said = document.querySelector("output");
const rows = [...document.querySelectorAll("tbody tr")];
const find = () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !words.every((w) => row.textContent.toLowerCase().includes(w));
  said.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} models`;
};
box.addEventListener("input", find);
box.closest("p").hidden = false;
find();
