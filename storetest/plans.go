package storetest

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/headcount-live/headcount"
)

// Plans runs what every [headcount.PlanStore] must do. open returns an empty
// store of its own for each call and closes it with the test.
func Plans(t *testing.T, open func(t *testing.T) headcount.PlanStore) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, headcount.PlanStore)
	}{
		{"PutThenRead", planPutThenRead},
		{"PutReplacesTheWholeRow", planPutReplaces},
		{"ManyAccountsInOneCall", planManyAccounts},
		{"OddIDs", planOddIDs},
		{"RowsAreCopies", planCopies},
		{"Delete", planDelete},
		{"Import", planImport},
		{"ImportIsAllOrNothing", planImportAllOrNothing},
		{"ExportIsOneMoment", planExportOneMoment},
		{"ExportStopsWhenAsked", planExportStops},
		{"Concurrency", planConcurrency},
		{"FeedBeginsWithAll", planFeedBegins},
		{"FeedInCommitOrder", planFeedOrder},
		{"FeedTellsImports", planFeedImport},
		{"FeedResumes", planFeedResumes},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// A row that was put is read back as it was, with the time it was put at.
func planPutThenRead(t *testing.T, s headcount.PlanStore) {
	wantRows(t, s, []string{"ann"})
	before := headcount.At(time.Now().Add(-time.Minute))
	want := planRow("ann", "premium", -1, headcount.StatusPaused)
	got, err := s.PutPlan(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, ignoreTime()); diff != "" {
		t.Errorf("the row that was put (-want +got):\n%s", diff)
	}
	if got.UpdatedAt < before || got.UpdatedAt > headcount.At(time.Now().Add(time.Minute)) {
		t.Errorf("updated at %v, want about now", got.UpdatedAt)
	}
	read, err := s.Plans(t.Context(), []string{"ann"})
	if diff := cmp.Diff([]headcount.Plan{got}, read); err != nil || diff != "" {
		t.Errorf("err %v; the row read back, time included (-want +got):\n%s", err, diff)
	}
}

// Nothing of the old row shines through: a limit of its own can be taken away,
// and a limit of 0 is not the absence of one.
func planPutReplaces(t *testing.T, s headcount.PlanStore) {
	for _, row := range []headcount.Plan{
		planRow("ann", "custom", 7, headcount.StatusChurned),
		planRow("ann", "basic", -1, headcount.StatusActive),
		planRow("ann", "basic", 0, headcount.StatusActive),
		planRow("ann", "family", 64, headcount.StatusPaused),
	} {
		putPlans(t, s, row)
		wantRows(t, s, []string{"ann"}, row)
	}
}

// One call answers for many accounts: those with a row, each once, and no others.
func planManyAccounts(t *testing.T, s headcount.PlanStore) {
	wantRows(t, s, nil)
	var ids []string
	var want []headcount.Plan
	for i := range 3000 {
		id := fmt.Sprintf("account-%04d", i)
		ids = append(ids, id)
		if i%3 == 0 {
			want = append(want, planRow(id, "standard", i%65, headcount.StatusActive))
		}
	}
	putPlans(t, s, planRow("account-x", "basic", -1, headcount.StatusActive))
	importPlans(t, s, want)
	wantRows(t, s, append(ids, ids[:9]...), want...)
}

// Any id that the contract allows is an id, and none is taken for another.
func planOddIDs(t *testing.T, s headcount.PlanStore) {
	var want []headcount.Plan
	for i, id := range OddIDs() {
		want = append(want, planRow(id, id, i%65, headcount.StatusActive))
	}
	putPlans(t, s, want[:len(want)/2]...)
	importPlans(t, s, want[len(want)/2:])
	wantRows(t, s, OddIDs(), want...)
	wantExport(t, s, want...)
	for _, id := range OddIDs() {
		if had, err := s.DeletePlan(t.Context(), id); !had || err != nil {
			t.Errorf("deleting %q: got %v, %v", id, had, err)
		}
	}
	wantExport(t, s)
}

// OddIDs returns account ids that are allowed and easily broken, by a store, a
// file format or a shell.
func OddIDs() []string {
	return []string{
		"0", "00", "9223372036854775807", "1e3", " lead", "trail ", "a b", "a,b", `"quoted"`, `half"`,
		"it's", "'; DROP TABLE accounts; --", "%", "_", "%2F", "{a}", "a:b/c", "..", `back\slash`, `\.`,
		"NULL", "null", "true", "-", "--flag", "#hash", "Case", "case", "é", "e\u0301", "ß", "\u2028",
		"日本", "👩‍👩‍👧‍👦", "\U0010FFFF", "\uFFFD", "\uFEFFbom", strings.Repeat("x", headcount.MaxIDLen), strings.Repeat("é", headcount.MaxIDLen/2),
	}
}

// What a caller does to its row after a call does not change the stored one.
func planCopies(t *testing.T, s headcount.PlanStore) {
	row := planRow("ann", "basic", 3, headcount.StatusActive)
	putPlans(t, s, row)
	*row.MaxStreams = 9
	read, err := s.Plans(t.Context(), []string{"ann"})
	if err != nil || len(read) != 1 {
		t.Fatalf("got %v, %v", read, err)
	}
	*read[0].MaxStreams = 11
	wantRows(t, s, []string{"ann"}, planRow("ann", "basic", 3, headcount.StatusActive))
}

// A deleted row is gone, and deleting it again reports that there was none.
func planDelete(t *testing.T, s headcount.PlanStore) {
	ben := planRow("ben", "basic", -1, headcount.StatusActive)
	putPlans(t, s, planRow("ann", "basic", -1, headcount.StatusActive), ben)
	for _, want := range []bool{true, false} {
		if had, err := s.DeletePlan(t.Context(), "ann"); had != want || err != nil {
			t.Errorf("got %v, %v; want %v", had, err, want)
		}
	}
	wantRows(t, s, []string{"ann", "ben"}, ben)
}

// An import replaces the rows it names, leaves the others, and counts accounts:
// of an account named twice the later row holds.
func planImport(t *testing.T, s headcount.PlanStore) {
	cem := planRow("cem", "premium", -1, headcount.StatusActive)
	putPlans(t, s, planRow("ann", "basic", 5, headcount.StatusPaused), cem)
	ann := planRow("ann", "standard", -1, headcount.StatusActive)
	ben := planRow("ben", "family", 6, headcount.StatusChurned)
	n, err := s.ImportPlans(t.Context(), planSeq(nil, planRow("ben", "basic", -1, headcount.StatusActive), ann, ben))
	if n != 2 || err != nil {
		t.Errorf("got %d, %v; want 2 accounts", n, err)
	}
	wantExport(t, s, ann, ben, cem)
	if n, err := s.ImportPlans(t.Context(), planSeq(nil)); n != 0 || err != nil {
		t.Errorf("an empty import: got %d, %v", n, err)
	}
}

// An import whose rows end in an error changes nothing and returns that error.
func planImportAllOrNothing(t *testing.T, s headcount.PlanStore) {
	ann := planRow("ann", "basic", -1, headcount.StatusActive)
	putPlans(t, s, ann)
	var rows []headcount.Plan
	for i := range 5000 {
		rows = append(rows, planRow(fmt.Sprint("new-", i), "premium", -1, headcount.StatusActive))
	}
	rows = append(rows, planRow("ann", "premium", -1, headcount.StatusActive))
	broken := errors.New("line 5002: broken")
	if n, err := s.ImportPlans(t.Context(), planSeq(broken, rows...)); n != 0 || !errors.Is(err, broken) {
		t.Errorf("got %d, %v; want 0 and the error of the rows", n, err)
	}
	wantExport(t, s, ann)
}

// An export is the table as of its beginning, whatever is written meanwhile, and
// by ascending bytes of the id.
func planExportOneMoment(t *testing.T, s headcount.PlanStore) {
	var want []headcount.Plan
	for i := range 500 {
		want = append(want, planRow(fmt.Sprintf("a%03d", i), "basic", -1, headcount.StatusActive))
	}
	importPlans(t, s, want)
	var got []headcount.Plan
	for row, err := range s.ExportPlans(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			putPlans(t, s, planRow("a400", "premium", 9, headcount.StatusPaused), planRow("zoe", "basic", -1, headcount.StatusActive))
			if _, err := s.DeletePlan(t.Context(), "a450"); err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, row)
	}
	if diff := cmp.Diff(want, got, ignoreTime()); diff != "" {
		t.Errorf("the export (-want +got):\n%s", diff)
	}
}

// A reader that breaks off an export leaves a store that goes on working.
func planExportStops(t *testing.T, s headcount.PlanStore) {
	ann := planRow("ann", "basic", -1, headcount.StatusActive)
	ben := planRow("ben", "basic", -1, headcount.StatusActive)
	putPlans(t, s, ann, ben)
	for range 50 {
		for _, err := range s.ExportPlans(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	wantExport(t, s, ann, ben)
}

// Writers of the same accounts and readers do not disturb each other: at the end
// each account has the row of one of its writers, whole.
func planConcurrency(t *testing.T, s headcount.PlanStore) {
	const writers, accounts = 4, 8
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for a := range accounts {
				row := planRow(fmt.Sprint("account-", a), fmt.Sprint("plan-", w), w, headcount.StatusActive)
				if _, err := s.PutPlan(t.Context(), row); err != nil {
					t.Error(err)
				}
				if _, err := s.Plans(t.Context(), []string{row.AccountID}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n := 0
	for row, err := range s.ExportPlans(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if row.MaxStreams == nil || row.Plan != fmt.Sprint("plan-", *row.MaxStreams) {
			t.Errorf("a row of two writers: %+v", row)
		}
		n++
	}
	if n != accounts {
		t.Errorf("got %d accounts, want %d", n, accounts)
	}
}

func planRow(account, plan string, limit int, status headcount.Status) headcount.Plan {
	row := headcount.Plan{AccountID: account, Plan: plan, Status: status}
	if limit >= 0 {
		row.MaxStreams = &limit
	}
	return row
}

// planSeq yields rows, then err if there is one.
func planSeq(err error, rows ...headcount.Plan) iter.Seq2[headcount.Plan, error] {
	return func(yield func(headcount.Plan, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(headcount.Plan{}, err)
		}
	}
}

func putPlans(t *testing.T, s headcount.PlanStore, rows ...headcount.Plan) {
	t.Helper()
	for _, row := range rows {
		if _, err := s.PutPlan(t.Context(), row); err != nil {
			t.Fatalf("putting %q: %v", row.AccountID, err)
		}
	}
}

func importPlans(t *testing.T, s headcount.PlanStore, rows []headcount.Plan) {
	t.Helper()
	if n, err := s.ImportPlans(t.Context(), planSeq(nil, rows...)); n != len(rows) || err != nil {
		t.Fatalf("importing: got %d, %v; want %d", n, err, len(rows))
	}
}

func wantRows(t *testing.T, s headcount.PlanStore, accounts []string, want ...headcount.Plan) {
	t.Helper()
	got, err := s.Plans(t.Context(), accounts)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, byAccount)
	want = slices.SortedFunc(slices.Values(want), byAccount)
	if diff := cmp.Diff(want, got, ignoreTime(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func wantExport(t *testing.T, s headcount.PlanStore, want ...headcount.Plan) {
	t.Helper()
	var got []headcount.Plan
	for row, err := range s.ExportPlans(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	want = slices.SortedFunc(slices.Values(want), byAccount)
	if diff := cmp.Diff(want, got, ignoreTime(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the export (-want +got):\n%s", diff)
	}
}

func byAccount(a, b headcount.Plan) int { return strings.Compare(a.AccountID, b.AccountID) }

func ignoreTime() cmp.Option { return cmpopts.IgnoreFields(headcount.Plan{}, "UpdatedAt") }
