export async function showAnalysis(view) { view.textContent = 'coming'; }
