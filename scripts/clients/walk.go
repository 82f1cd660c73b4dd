// Walks through the main job with the client that oapi-codegen made, in the package `api` beside it.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"walk/api"
)

func must(holds bool, answer *http.Response, body []byte) {
	if !holds {
		log.Fatal(answer.Request.URL.Path, " ", answer.Status, " ", string(body))
	}
}

func main() {
	ctx := context.Background()
	benefits := NewBenefits(os.Getenv("BASE_URL"), os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"), os.Getenv("API_KEY"))
	client, err := api.NewClientWithResponses(os.Getenv("BASE_URL"), api.WithHTTPClient(benefits))
	check(err)

	userid := fmt.Sprintf("go-%d", time.Now().UnixNano())
	state, version := api.AddressState("FL"), api.PrefillUserParamsVersion("v2")
	first, last, email, dob, zip := "Ada", "Rivera", "ada@example.com", "1990-03-27", "33101"
	person := api.Prefill{Userid: userid, Firstname: &first, Lastname: &last, Email: &email, Dob: &dob, Zipcode: &zip,
		Address: &api.Address{State: &state}}
	once := &api.PrefillUserParams{IdempotencyKey: &userid, Version: &version}
	saved, err := client.PrefillUserWithResponse(ctx, once, person)
	check(err)
	must(saved.JSON200 != nil && *saved.JSON200 == "prefill saved", saved.HTTPResponse, saved.Body)
	again, err := client.PrefillUserWithResponse(ctx, once, person)
	check(err)
	refused := again.ApplicationproblemJSON409
	must(refused != nil && fmt.Sprint(refused.Code) == "user_exists", again.HTTPResponse, again.Body)
	listed, err := client.GetBenefitsWithResponse(ctx, api.BenefitsRequest{Userid: userid, Age: 36, State: "FL", Zipcode: zip})
	check(err)
	must(listed.JSON200 != nil && len(*listed.JSON200) > 0, listed.HTTPResponse, listed.Body)
	offer, key := "starter", userid+"-create"
	created, err := client.CreateUserWithResponse(ctx, &api.CreateUserParams{IdempotencyKey: &key},
		api.CreateUser{Userid: userid, Offername: &offer, Benefits: &[]string{"dental"}, Dependants: &[]api.NewDependant{{
			Relationship: "spouse", Firstname: "Grace", Lastname: "Rivera", Dob: "1988-02-29",
			Benefits: &[]api.CoveringBenefit{{Name: "dental"}}}}})
	check(err)
	must(created.JSON200 != nil && fmt.Sprint(created.JSON200.Status) == "active", created.HTTPResponse, created.Body)
	covered := 0
	for _, benefit := range created.JSON200.Benefits {
		if benefit.Dependants != nil {
			covered += len(*benefit.Dependants)
		}
	}
	must(covered == 1, created.HTTPResponse, created.Body)
	preview := true
	cover, err := client.ChangeCoverWithResponse(ctx, &api.ChangeCoverParams{},
		api.CoverRequest{Userid: userid, Name: "dental", Dependants: []string{}, Previewonly: &preview})
	check(err)
	must(cover.JSON200 != nil && len(cover.JSON200.Before.Dependants) == 1 &&
		cover.JSON200.After.Cost.Cents < cover.JSON200.Before.Cost.Cents, cover.HTTPResponse, cover.Body)
	swapped, err := client.SwapBenefitsWithResponse(ctx, &api.SwapBenefitsParams{},
		api.SwapRequest{Userid: userid, Add: []string{"telehealth"}, Remove: []string{"dental"}})
	check(err)
	must(swapped.JSON200 != nil && swapped.JSON200.Add[0] == "telehealth", swapped.HTTPResponse, swapped.Body)
	key = userid + "-cancel"
	cancelled, err := client.CancelUserWithResponse(ctx, userid, &api.CancelUserParams{IdempotencyKey: &key})
	check(err)
	must(cancelled.JSON200 != nil && len(cancelled.JSON200.Benefits) > 0, cancelled.HTTPResponse, cancelled.Body)
	fmt.Println("walked")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
