const body = document.querySelector("tbody");
document.querySelectorAll("thead th").forEach((head, k) => {
  let sign = -1;
  head.style.cursor = "pointer";
  head.addEventListener("click", () => {
    sign = -sign;
    const text = (row) => row.cells[k].textContent;
    const ordered = [...body.rows].sort((x, y) => sign * text(x).localeCompare(text(y)));
    body.append(...ordered);
  });
});
